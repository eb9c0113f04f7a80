"""How the headers of the book show a prototype: it begins at the start of a
line."""

import re

PROTOTYPE = re.compile(r"^(?:enum|struct|void|bool|int|size_t|real|double|"
                       r"uint64_t|const|forward_path)\b[^;{=()]*?\b(?!mhf_)(\w+)\(", re.MULTILINE)

"""What the tools and tests that see safetensors files from outside share: eight
bytes of length, a header in JSON, data. Nothing is checked here; that is what
the program is for."""

import json
import struct


def read(path):
    """{name: (type, shape, bytes)} in the order of the header, and the
    metadata."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    metadata = header.pop("__metadata__", {})
    return {name: (entry["dtype"], entry["shape"],
                   data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}, metadata


def pack(tensors, metadata=None, pad=8):
    """The bytes of a file; pad=1 leaves the data at any address."""
    header, data = {"__metadata__": metadata} if metadata else {}, bytearray()
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets":
                        [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % pad)
    return struct.pack("<Q", len(text)) + text + data

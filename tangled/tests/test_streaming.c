/* tests/test_streaming.c: made from chapters/57-tiles.nw; edit it there. */
#include "streamed_bench.h"
#include "streaming.h"
#include "suites.h"
#include "support.h"

/* tests of the streaming path */
static const struct streaming fast = { layer_forward_streaming,
		layer_backward_streaming };

static void use_streaming(void)
{
	streamed_use(&fast, 0);
}

void streaming_suite(Suite *suite)
{
	/* test cases of the streaming path */
	TCase *c = tcase_create("streamed");

	tcase_add_checked_fixture(c, use_streaming, NULL);
	streamed_tests(c);
	suite_add_tcase(suite, c);
}

/* questions.h: made from the questions and cards in the chapters. */
#ifndef MH_QUESTIONS_H
#define MH_QUESTIONS_H

#include "places.h"
#include "quiz.h"

static const struct question questions[] = {
	{
		.name = "full-width",
		.see = PLACE_sec_slice "; " PLACE_sec_roles "; " PLACE_sec_inputs,
		.prompt = "A layer of width 8 has two heads. Somebody says: \"Head 0 "
			"works on features 0 to 3 of each token, head 1 on features "
			"4 to 7.\" Which input features may one coordinate of head "
			"0's query depend on, and by which shape does one see that? "
			"And what is it, then, that the packed code cuts in two?",
		.answer = "On all 8. A coordinate of the query is the product of the "
			"whole token with one row of the query weight, and that row "
			"has 8 numbers. So the weight of a head is (4, 8), as it is "
			"(2, 4) in the fixture, where most of the numbers are zero "
			"to keep the pencil short. What the packed code cuts is the "
			"result of the projection: its coordinates, not those of the "
			"input.",
		.rubric = {
			{ "Every coordinate of the query may read every feature of the "
			  "token.",
			  NULL, false },
			{ "The reason is the shape of the weight, (d, C): a row has C "
			  "numbers.",
			  NULL, false },
			{ "What is split among the heads is the projected result.",
			  NULL, false },
		}
	},
	{
		.name = "concatenate-project",
		.see = PLACE_sec_concat "; " PLACE_sec_outproj "; " PLACE_sec_mixed,
		.prompt = "What does the concatenation do with the outputs of the "
			"heads, and what does the output projection do? Does either "
			"carry anything from one position to another? And if heads "
			"were simply added up, what could not be had back?",
		.answer = "The concatenation sets the outputs side by side, head after "
			"head, and changes no number. The projection mixes: each "
			"coordinate of the output is a weighted sum over all "
			"coordinates of all heads, at the same position. Neither "
			"reaches another position. A forced sum keeps of the "
			"fixture's last position only 40/7 and 26/7. The "
			"differences, 12/7 and 6/7, are gone, and nothing that comes "
			"later can find them again. A projection can learn to be a "
			"sum; a sum cannot learn to be another projection.",
		.rubric = {
			{ "Concatenation neither adds, averages nor chooses.",
			  NULL, false },
			{ "The output projection mixes coordinates of different heads.",
			  NULL, false },
			{ "Sums lose the differences between heads, for good.",
			  NULL, false },
			{ "The projection acts on each position by itself.",
			  NULL, false },
		}
	},
	{
		.name = "which-width",
		.see = PLACE_sec_scores,
		.prompt = "A layer has C=64 and H=16. By which number does one head "
			"divide its scores? Why by that one, and what would come of "
			"dividing by the root of C?",
		.answer = "By sqrt(4)=2, for the head width is d=64/16=4. A score is a "
			"sum of d products; if these are independent and of size "
			"one, the sum has the size of sqrt(d). We drew such "
			"products: with width {scale.0.width:-} their standard "
			"deviation was {scale.0.raw:2} before the division and "
			"{scale.0.scaled:2} after it. The root of C would be 8. It "
			"would make scores four times too small, and weights "
			"flatter, and no shape would tell.",
		.rubric = {
			{ "d=C/H=4, so the divisor is 2.",
			  NULL, false },
			{ "The width that counts is the number of terms in the head's "
			  "own dot product.",
			  NULL, false },
			{ "Too large a divisor flattens the weights, while every shape "
			  "and every sum of a row stays right.",
			  NULL, false },
		}
	},
	{
		.name = "more-heads",
		.see = PLACE_ch_storage,
		.prompt = "The width stays 8, there are no biases, B=2 and T=4. We go "
			"from one head to four. What happens to the number of "
			"parameters, to the number of scores that are stored, to the "
			"head width, and to the arithmetic of the two score "
			"products? Which of these tells how long the layer takes, or "
			"how good it is?",
		.answer = "The parameters stay: 256 and 256, which is 4*C*C, since "
			"more heads are narrower in the same proportion. The scores "
			"grow with the heads, B*H*T*T: from 32 to 128. The head "
			"width shrinks from 8 to 2. The arithmetic of the score "
			"products is B*H*T*T*d = B*T*T*C each, and stays. None of "
			"this is a number of seconds, and none says that the two "
			"layers can do the same: heads of width 2 compare less, and "
			"there are more distributions.",
		.rubric = {
			{ "Parameters unchanged at 256, or 4*C*C.",
			  NULL, false },
			{ "Stored scores four times as many.",
			  NULL, false },
			{ "Head width a quarter.",
			  NULL, false },
			{ "Leading arithmetic of the score products unchanged.",
			  NULL, false },
			{ "Counts are not seconds, and not quality.",
			  NULL, false },
		}
	},
	{
		.name = "equal-queries",
		.see = PLACE_sec_silent "; " PLACE_sec_contribution,
		.prompt = "In the fixture, set the query feature to zero at every "
			"position. The values stay [2, 0], [0, 4] and [6, 2] in both "
			"heads, and the keys stay opposite. What are the weights of "
			"both heads at the last position, and why do the keys not "
			"help? What do both carry home, and what happens to the "
			"coordinates of the output that subtract one head from the "
			"other, and to those that add the two?",
		.answer = "Zero queries make every score zero, whatever the keys. So "
			"both heads weigh all three positions by 1/3 and both carry "
			"home the mean of the values, [8/3, 2]. The sums double, "
			"16/3 and 4; the differences are 0 and 0, because the heads "
			"agree. The keys still differ, but a key that no query asks "
			"for routes nothing.",
		.rubric = {
			{ "Both distributions are uniform, 1/3 each.",
			  NULL, false },
			{ "Both mixtures are the same mean, [8/3, 2].",
			  NULL, false },
			{ "Coordinates that subtract the heads become zero, those that "
			  "add them double the mean.",
			  NULL, false },
			{ "Routing needs query and key.",
			  NULL, false },
		}
	},
	{
		.name = "signed-contribution",
		.see = PLACE_sec_contribution,
		.prompt = "The concatenation at the fixture's last position is [26/7, "
			"16/7, 14/7, 10/7], and the stored rows of the output "
			"projection are [1, 0, 1, 0], [0, 1, 0, -1], [1, 0, -1, 0] "
			"and [0, 1, 0, 1]. What does head 1 contribute to the "
			"output? Which coordinates rise when its block is zeroed "
			"before the projection? Could the attention weights have "
			"told?",
		.answer = "Only the last two columns of each row meet head 1. So it "
			"contributes [2, -10/7, -2, 10/7]. Zeroing its block takes "
			"that away: coordinates 1 and 2, to which it contributed "
			"negative numbers, rise. The contributions of all heads add "
			"up to the output, since the projection is linear. Weights "
			"could not have told: they are never negative, and the same "
			"under any values and any projection.",
		.rubric = {
			{ "The contribution is [2, -10/7, -2, 10/7], with its signs.",
			  NULL, false },
			{ "Coordinates 1 and 2 rise.",
			  NULL, false },
			{ "Weights alone could not have told: the sign comes from "
			  "values and projection.",
			  NULL, false },
		}
	},
	{
		.name = "causality-test",
		.see = PLACE_ch_interventions,
		.prompt = "You are given a layer that claims to be causal. You may run "
			"it as often as you like. Which experiment convinces you, "
			"and which second run convinces you that the experiment "
			"could have failed? Name two observations that are not "
			"enough.",
		.answer = "Change the input at one position, run again, and compare "
			"the outputs: nothing before that position may move, not "
			"even a little, and this for every position. In the fixture "
			"the past moves by 0. Then the same change without the mask: "
			"now the past must move, and it does, by up to "
			"{interventions.fixture.unmasked:2}. Without that control "
			"the change might have been too feeble, or the comparison "
			"blind. Right shapes are not enough, and neither are rows "
			"that sum to one: a missing mask keeps both, and so does a "
			"merge that mixes up the tokens. Weights of zero on the "
			"future do not suffice either, for a wrong merge can carry "
			"the future past them.",
		.rubric = {
			{ "Intervene on an input, and compare outputs at earlier "
			  "positions.",
			  NULL, false },
			{ "The change there must be exactly zero, at every position in "
			  "turn. (Where a library multiplies in other orders, within "
			  "rounding.)",
			  NULL, false },
			{ "Negative control: without the mask, the past does move.",
			  NULL, false },
			{ "The whole layer is tested, not only its weights.",
			  NULL, false },
			{ "Shapes and sums of rows are named as not enough.",
			  NULL, false },
		}
	},
	{
		.name = "no-jobs",
		.see = PLACE_sec_jobs "; " PLACE_sec_whole_story,
		.prompt = "A heat map shows that head 3 of some model looks from verbs "
			"to their subjects. A colleague calls it the subject head. "
			"What has been shown, what has not, and what would you do "
			"next? And what does the 3 say about another model?",
		.answer = "That on these inputs this head puts its weight there. It "
			"has not been shown that it does so on others, that no other "
			"head does, or that the model uses what the head fetches: "
			"the weights are the same under any values and any "
			"projection. Separate parameters permit heads to differ and "
			"force nothing; our own random layer, which nobody had "
			"trained, has heads that lie {thought.distance:2} apart, "
			"where 0 is the same distribution and 1 no overlap. Next "
			"come more inputs, and interventions: remove the head, or "
			"change what it reads, and see whether what depends on "
			"subjects changes, with its sign. And a number such as 3 "
			"means nothing in another model, or after another training.",
		.rubric = {
			{ "A pattern on some inputs is an observation, not a job.",
			  NULL, false },
			{ "Weights route; values and projection decide what it is "
			  "worth.",
			  NULL, false },
			{ "Interventions with signed changes are needed, on many "
			  "inputs.",
			  NULL, false },
			{ "Head numbers carry no meaning, and separate parameters do "
			  "not force specialists.",
			  NULL, false },
		}
	},
};

static const struct question explanations[] = {
	{
		.name = "several-mixtures",
		.see = PLACE_ch_loop "; " PLACE_sec_silent,
		.prompt = "Why can several heads keep different mixtures of the "
			"sources, although all of them see the same input? And how "
			"does concatenating their outputs differ from projecting "
			"them? Does either mix positions?",
		.apply = "Now a case. In the fixture, the query feature is zero "
			"everywhere; the values of both heads are [2, 0], [0, 4] and "
			"[6, 2]. What are the mixtures of both heads at the last "
			"position, and why? What becomes of the output coordinates "
			"that subtract one head from the other?",
		.answer = "Each head has query, key and value projections of its own. "
			"From one and the same input they make different queries and "
			"keys, hence different scores, and a softmax of its own "
			"turns these into one distribution per head. With a single "
			"head every coordinate of the value is mixed by the same "
			"distribution; with two there are two mixtures, if the "
			"parameters differ. The concatenation keeps them apart, in "
			"columns of their own. The projection reads all columns and "
			"may add, subtract or ignore them, at each position by "
			"itself. In the case, all scores are zero and both "
			"distributions uniform. Both heads carry home [8/3, 2], and "
			"the subtracting coordinates are 0 and 0.",
		.rubric = {
			{ "Each head has its own projections, and each reads the full "
			  "width.",
			  "If both heads had the same three weights, would there still "
			  "be two mixtures?", false },
			{ "Each head has its own distribution over the sources, one "
			  "for each receiving position.",
			  "Over which axis does the softmax run, and how many rows of "
			  "weights does a layer with H heads and T positions make?", false },
			{ "Concatenation keeps numbers apart and unchanged.",
			  "I double one number of head 1's output. Which numbers of "
			  "the concatenation move, and which of the output may?", false },
			{ "The projection mixes features, and no positions.",
			  "Could a clever projection let position 0 know of position 2?", false },
			{ "Both mixtures are uniform, and equal: [8/3, 2].",
			  "What is the softmax of three scores that are all zero? And "
			  "with which values does that go?", true },
			{ "The subtracting coordinates vanish.",
			  "Coordinate 2 of the output is the difference of coordinates "
			  "0 and 2 of the concatenation. What are these two when the "
			  "heads agree?", true },
			{ "It is said why: a query of zero meets every key alike.",
			  "The keys are still opposite. Why does that no longer matter?", true },
		}
	},
};

static const struct card cards[] = {
	{
		.name = "reads-everything",
		.see = PLACE_sec_slice,
		.front = "What does one coordinate of a head's query read?",
		.back = "All C features of its token: it is one row of a (d,C) "
			"weight times the token. What is split among heads is the "
			"result.",
	},
	{
		.name = "axes-of-scores",
		.see = PLACE_ch_packed,
		.front = "Shapes, with a head axis, of queries, scores, weights and "
			"heads' outputs?",
		.back = "(B,H,T,d), (B,H,T,T), (B,H,T,T), (B,H,T,d). The last axis "
			"of the weights is the source; rows along it sum to one.",
	},
	{
		.name = "there-and-back",
		.see = PLACE_sec_wayback,
		.front = "From (B,T,C) to a head axis, and back?",
		.back = "View as (B,T,H,d), swap the middle axes to (B,H,T,d). Back: "
			"swap, make contiguous, view as (B,T,C). Without the swap "
			"every shape fits, and tokens and heads are mixed up.",
	},
	{
		.name = "divisor",
		.see = PLACE_sec_scores,
		.front = "By what are scores divided?",
		.back = "By sqrt(d), the root of the head width: as many terms as "
			"its dot product has. Not by the root of C.",
	},
	{
		.name = "mask-side",
		.see = PLACE_sec_mask,
		.front = "What may position i see under the causal mask?",
		.back = "Positions 0 to i, itself included. The future gets minus "
			"infinity before the softmax, in every head alike.",
	},
	{
		.name = "parameters",
		.see = PLACE_ch_storage,
		.front = "How many parameters has a layer without biases, and how "
			"does the number depend on H?",
		.back = "3*H*C*d + C*C = 4*C*C; at fixed C not at all. Width 8 gives "
			"256.",
	},
	{
		.name = "parameters-biases",
		.see = PLACE_sec_biases,
		.front = "And with biases?",
		.back = "4*C*C + 4*C. Width 8 gives 288.",
	},
	{
		.name = "scores-stored",
		.see = PLACE_ch_storage,
		.front = "How many scores are stored, and what does twice the length "
			"cost?",
		.back = "B*H*T*T. Twice the length, four times the bytes: a float "
			"score tensor with B=H=2 takes {storage.bytes.t128:-} bytes "
			"at 128 positions and {storage.bytes.t256:-} at 256.",
	},
	{
		.name = "concatenation",
		.see = PLACE_sec_concat "; " PLACE_sec_outproj,
		.front = "Concatenation or projection: which one mixes heads?",
		.back = "The projection. The concatenation sets side by side, and "
			"changes no number.",
	},
	{
		.name = "contribution",
		.see = PLACE_sec_contribution,
		.front = "What does head h contribute to the output?",
		.back = "Its columns of Z times its columns of the output "
			"projection's stored rows. Signed; over all heads these add "
			"up to the output.",
	},
	{
		.name = "shape-is-not-enough",
		.see = PLACE_ch_interventions "; " PLACE_ch_bugs,
		.front = "All shapes are right and all rows sum to one. What may "
			"still be wrong?",
		.back = "Mask, divisor, merge, order of heads or rows. (A softmax "
			"down the columns keeps the shapes and not the sums.) "
			"Intervene, and compare with something independent.",
	},
	{
		.name = "head-numbers",
		.see = PLACE_sec_jobs,
		.front = "What does the number of a head mean?",
		.back = "Nothing but a place in memory. Separate parameters permit "
			"different routing and force no job; a name needs a trained "
			"model and interventions.",
	},
	{
		.name = "security",
		.see = PLACE_ch_why,
		.front = "Which permission boundary does a head, or a mask, give an "
			"agent?",
		.back = "None. Heads are no workers, and neither a mask nor a heat "
			"map supports a claim about security.",
	},
	{
		.name = "softmax-slope",
		.see = PLACE_ch_gradients,
		.front = "How do slopes come back through the softmax of one row?",
		.back = "With weights A and their slopes dA: A*(dA-r), where r is "
			"the sum of A*dA over the row. They add up to zero.",
	},
	{
		.name = "check-gradient",
		.see = PLACE_sec_differences,
		.front = "How does one check a gradient without trusting its author?",
		.back = "Change one number a little both ways, and compare the "
			"difference of the results with the slope; and ask an "
			"independent library.",
	},
	{
		.name = "online-row",
		.see = PLACE_ch_online,
		.front = "What has to be kept to mix a row without storing its scores?",
		.back = "The largest score so far, the sum of the exponentials, and "
			"the mix so far. When the maximum grows, sum and mix are "
			"rescaled.",
	},
	{
		.name = "streaming-memory",
		.see = PLACE_ch_online "; " PLACE_ch_tiles,
		.front = "What does a streaming path save, and what not?",
		.back = "The (B,H,T,T) of scores and weights. Not the arithmetic, "
			"which grows with the square of T all the same.",
	},
	{
		.name = "mask-sense",
		.see = PLACE_sec_conventions,
		.front = "In PyTorch, what does True mean in a Boolean mask?",
		.back = "Blocked, in nn.MultiheadAttention; allowed, in "
			"scaled_dot_product_attention.",
	},
	{
		.name = "stored-rows",
		.see = PLACE_sec_conventions,
		.front = "In which order does PyTorch store a projection, and all "
			"three of them?",
		.back = "One row for each output coordinate, (out, in); and in "
			"in_proj_weight first all query rows, then all key rows, "
			"then all value rows.",
	},
	{
		.name = "what-a-roof-is",
		.see = PLACE_ch_speed,
		.front = "What bounds the speed of a step, in the simplest model?",
		.back = "Either its arithmetic, at the peak of the processor, or the "
			"bytes it must carry, at the bandwidth of the memory: "
			"whichever takes longer.",
	},
};

#endif

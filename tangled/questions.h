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
			  NULL,
			  NULL, false },
			{ "The shape that shows it is that of the weight, (d, C).",
			  NULL,
			  NULL, false },
			{ "What is split among the heads is the projected result.",
			  NULL,
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
			{ "Concatenation sets the outputs side by side.",
			  NULL,
			  NULL, false },
			{ "The output projection mixes coordinates of different heads.",
			  NULL,
			  NULL, false },
			{ "Neither reaches another position.",
			  NULL,
			  NULL, false },
			{ "From a sum the differences between the heads cannot be had "
			  "back.",
			  NULL,
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
			  NULL,
			  NULL, false },
			{ "The width that counts is the number of terms in the head's "
			  "own dot product.",
			  NULL,
			  NULL, false },
			{ "Too large a divisor flattens the weights.",
			  NULL,
			  NULL, false },
		}
	},
	{
		.name = "more-heads",
		.see = PLACE_ch_storage,
		.prompt = "The width stays 8, there are no biases, B=2 and T=4. We go "
			"from one head to four. What happens to the number of "
			"parameters, to the number of scores that are stored, to the "
			"head width, and to the arithmetic of the two products, "
			"queries with keys and weights with values? Which of these "
			"tells how long the layer takes, or how good it is?",
		.answer = "The parameters stay: 256 and 256, which is 4*C*C, since "
			"more heads are narrower in the same proportion. The scores "
			"grow with the heads, B*H*T*T: from 32 to 128. The head "
			"width shrinks from 8 to 2. The arithmetic of either product "
			"is B*H*T*T*d = B*T*T*C, and stays. None of this is a number "
			"of seconds, and none says that the two layers can do the "
			"same: a score has 2 terms where it had 8, and there are "
			"four distributions for one.",
		.rubric = {
			{ "Parameters unchanged at 256, or 4*C*C.",
			  NULL,
			  NULL, false },
			{ "Stored scores four times as many.",
			  NULL,
			  NULL, false },
			{ "Head width a quarter.",
			  NULL,
			  NULL, false },
			{ "Arithmetic of the two products unchanged.",
			  NULL,
			  NULL, false },
			{ "None of these counts tells how long, or how good.",
			  NULL,
			  NULL, false },
		}
	},
	{
		.name = "equal-queries",
		.see = PLACE_sec_silent "; " PLACE_sec_contribution,
		.prompt = "Two heads attend to three positions. The values of both are "
			"[2, 0], [0, 4] and [6, 2], the keys of one are the opposite "
			"of the other's, and every query is zero: the fixture, with "
			"its query feature silenced. What are the weights of both "
			"heads at the last position, and why do the keys not help? "
			"What do both carry home? What happens to coordinates of the "
			"output that subtract one head from the other, and to those "
			"that add the two?",
		.answer = "Zero queries make every score zero, whatever the keys. So "
			"both heads weigh all three positions by 1/3 and both carry "
			"home the mean of the values, [8/3, 2]. The sums double, "
			"16/3 and 4; the differences are 0 and 0, because the heads "
			"agree. The keys still differ, but a key that no query asks "
			"for routes nothing.",
		.rubric = {
			{ "Both distributions are uniform, 1/3 each.",
			  NULL,
			  NULL, false },
			{ "Both mixtures are the same mean, [8/3, 2].",
			  NULL,
			  NULL, false },
			{ "Coordinates that subtract the heads become zero.",
			  NULL,
			  NULL, false },
			{ "Those that add them double the mean.",
			  NULL,
			  NULL, false },
			{ "The keys do not help, since a query of zero scores each of "
			  "them 0.",
			  NULL,
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
			  NULL,
			  NULL, false },
			{ "Coordinates 1 and 2 rise.",
			  NULL,
			  NULL, false },
			{ "The weights could not have told.",
			  NULL,
			  NULL, false },
		}
	},
	{
		.name = "causality-test",
		.see = PLACE_ch_interventions,
		.prompt = "You are given a layer that claims to be causal, and a "
			"switch for its mask. You may run it as often as you like. "
			"Which experiment convinces you, and which second run "
			"convinces you that the experiment could have failed? Name "
			"two observations that are not enough.",
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
			  NULL,
			  NULL, false },
			{ "Nothing may move there. (Where a library multiplies in "
			  "other orders, within rounding.)",
			  NULL,
			  NULL, false },
			{ "Each position is changed in turn.",
			  NULL,
			  NULL, false },
			{ "The second run is without the mask, and there the past "
			  "moves.",
			  NULL,
			  NULL, false },
			{ "Two of these are named as not enough: shapes, sums of rows, "
			  "weights of zero on the future.",
			  NULL,
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
			{ "Shown is where the head puts its weight, on these inputs.",
			  NULL,
			  NULL, false },
			{ "Not shown is that the model uses what the head fetches.",
			  NULL,
			  NULL, false },
			{ "Next comes an intervention, such as removing the head.",
			  NULL,
			  NULL, false },
			{ "The number 3 says nothing about another model.",
			  NULL,
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
		.apply = "Now a case. In the fixture both heads have the values [2, "
			"0], [0, 4] and [6, 2], and the keys of head 1 are the "
			"opposite of those of head 0. At the last position the "
			"mixtures are [26/7, 16/7] and [2, 10/7]. There the query "
			"feature is 1, and we make it -1. What are the mixtures now, "
			"and why? What becomes of the output coordinates that add "
			"the heads, and of those that subtract one from the other?",
		.answer = "Each head has query, key and value projections of its own. "
			"From one and the same input they make different queries and "
			"keys, hence different scores, and a softmax of its own "
			"turns these into one distribution per head. With a single "
			"head every coordinate of the value is mixed by the same "
			"distribution; with two there are two mixtures, if the "
			"parameters differ. The concatenation keeps them apart, in "
			"columns of their own. The projection reads all columns and "
			"may add, subtract or ignore them, at each position by "
			"itself. In the case, every score changes its sign. Since "
			"the keys were opposite, each head has the scores that the "
			"other had, and the mixtures change places. Sums do not "
			"notice and stay 40/7 and 26/7. Differences change their "
			"sign; they were 6/7 and 12/7.",
		.rubric = {
			{ "Each head has projections of its own.",
			  "If both heads had the same three weights, would there still "
			  "be two mixtures?",
			  "No. They would have the same queries, keys and values, "
			  "hence the same weights, and carry home the same twice.", false },
			{ "Each head has a distribution of its own over the sources.",
			  "Over which axis does the softmax run, and how many rows of "
			  "weights does a layer with H heads make of one example with "
			  "T positions?",
			  "Over the sources, the last axis. It makes H*T rows, one for "
			  "each head and each receiving position.", false },
			{ "Concatenation keeps numbers apart and unchanged.",
			  "I double one number of head 1's output. Which numbers of "
			  "the concatenation move, and which of the output may?",
			  "Of the concatenation this one. Of the output all "
			  "coordinates of the same position may, for each of them may "
			  "read that column.", false },
			{ "The projection mixes features, and no positions.",
			  "Could a clever projection let position 0 know of position 2?",
			  "No. It sees one position at a time, and the same weights "
			  "act on each.", false },
			{ "The mixtures change places.",
			  "Which weights has head 0 now, and which had it before?",
			  "It had 1/7, 2/7 and 4/7. It has those of head 1, 4/7 first.", true },
			{ "It is said why: every score changes its sign.",
			  "A score is the product of query and key. What becomes of it "
			  "when the query changes its sign?",
			  "It changes its sign, too. And the scores of the two heads "
			  "differed in their signs only.", true },
			{ "The coordinates that add stay.",
			  "Coordinate 0 of the output is the sum of coordinates 0 and "
			  "2 of the concatenation. What is it before, and after?",
			  "Both times 40/7.", true },
			{ "The coordinates that subtract change their sign.",
			  "Coordinate 2 of the output is the difference of coordinates "
			  "0 and 2 of the concatenation. What is it before, and after?",
			  "12/7 before, and minus that after.", true },
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
		.front = "How many parameters has a layer of width C with biases?",
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

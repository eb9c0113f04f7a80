/* places.h: made from the titles and labels in the chapters. */
#ifndef MH_PLACES_H
#define MH_PLACES_H

#define PLACE_ch_why \
	"chapter 1, 'Why several perspectives'"
#define PLACE_ch_tensors \
	"chapter 2, 'Tensors are views'"
#define PLACE_sec_strides \
	"section 2.1, 'A shape and its strides'"
#define PLACE_sec_views \
	"section 2.4, 'Making views'"
#define PLACE_sec_merge \
	"section 2.5, 'A merge that is refused'"
#define PLACE_sec_overlap \
	"section 2.6, 'Views that meet'"
#define PLACE_ch_one_head \
	"chapter 3, 'One head'"
#define PLACE_sec_roles \
	"section 3.1, 'From positions to three roles'"
#define PLACE_sec_scores \
	"section 3.2, 'Scores'"
#define PLACE_sec_mask \
	"section 3.3, 'The mask'"
#define PLACE_sec_softmax \
	"section 3.4, 'From scores to weights'"
#define PLACE_sec_mix \
	"section 3.5, 'The mix'"
#define PLACE_sec_head \
	"section 3.6, 'The whole head'"
#define PLACE_sec_room \
	"section 3.7, 'Room to work'"
#define PLACE_ch_fixture \
	"chapter 4, 'A fixture to calculate by hand'"
#define PLACE_sec_inputs \
	"section 4.1, 'Inputs and weights'"
#define PLACE_sec_byhand \
	"section 4.2, 'By hand'"
#define PLACE_sec_silent \
	"section 4.5, 'When the query says nothing'"
#define PLACE_ch_loop \
	"chapter 5, 'Kept apart, then mixed'"
#define PLACE_sec_registry \
	"section 5.2, 'A registry'"
#define PLACE_sec_controls \
	"section 5.4, 'Two ways to get it wrong'"
#define PLACE_sec_concat \
	"section 5.6, 'Concatenation'"
#define PLACE_sec_outproj \
	"section 5.7, 'The output projection'"
#define PLACE_sec_mixed \
	"section 5.9, 'The fixture, mixed'"
#define PLACE_sec_contribution \
	"section 5.10, 'What one head contributes'"
#define PLACE_ch_packed \
	"chapter 6, 'One product, a head axis'"
#define PLACE_sec_oneproduct \
	"section 6.1, 'One product'"
#define PLACE_sec_packed_threads \
	"section 6.3, 'Threads'"
#define PLACE_sec_axes \
	"section 6.4, 'From three thirds to four axes'"
#define PLACE_sec_wayback \
	"section 6.7, 'On the way back'"
#define PLACE_sec_biases \
	"section 6.10, 'Biases'"
#define PLACE_sec_packed_measured \
	"section 6.11, 'What the chapter measured'"
#define PLACE_ch_interventions \
	"chapter 7, 'Interventions'"
#define PLACE_sec_every \
	"section 7.2, 'Every position in turn'"
#define PLACE_sec_checks \
	"section 7.5, 'Which check protects what'"
#define PLACE_ch_storage \
	"chapter 8, 'What more heads cost'"
#define PLACE_sec_parameters \
	"section 8.1, 'Parameters'"
#define PLACE_sec_squares \
	"section 8.2, 'Scores'"
#define PLACE_sec_arithmetic \
	"section 8.3, 'Arithmetic'"
#define PLACE_sec_asked \
	"section 8.4, 'What was asked for, and what was got'"
#define PLACE_sec_sweep \
	"section 8.5, 'A sweep'"
#define PLACE_ch_gradients \
	"chapter 9, 'The way back'"
#define PLACE_sec_flow \
	"section 9.1, 'What flows back'"
#define PLACE_sec_backscores \
	"section 9.5, 'Back through the scores'"
#define PLACE_sec_differences \
	"section 9.8, 'Slopes found by trying'"
#define PLACE_ch_files \
	"chapter 10, 'Weights in a file'"
#define PLACE_sec_distrust \
	"section 10.4, 'Opening with distrust'"
#define PLACE_ch_pytorch \
	"chapter 11, 'A referee'"
#define PLACE_sec_conventions \
	"section 11.2, 'What it expects of its caller'"
#define PLACE_sec_run \
	"section 11.3, 'A layer that somebody else has trained'"
#define PLACE_ch_online \
	"chapter 12, 'Never store the square'"
#define PLACE_ch_tiles \
	"chapter 13, 'Tiles'"
#define PLACE_sec_tile \
	"section 13.4, 'A tile in registers'"
#define PLACE_sec_laying \
	"section 13.5, 'Laying numbers out'"
#define PLACE_sec_long_rows \
	"section 13.7, 'Long rows'"
#define PLACE_sec_attention_tile \
	"section 13.8, 'A tile of attention'"
#define PLACE_ch_speed \
	"chapter 14, 'How fast, and what stops it'"
#define PLACE_sec_carried \
	"section 14.2, 'How much must be carried'"
#define PLACE_sec_step \
	"section 14.4, 'One step of one path'"
#define PLACE_sec_bare \
	"section 14.5, 'A yardstick without tensors'"
#define PLACE_sec_turns \
	"section 14.7, 'Taking turns'"
#define PLACE_sec_left \
	"section 14.9, 'What is left'"
#define PLACE_sec_narrow \
	"section 14.13, 'Small layers, and narrow heads'"
#define PLACE_sec_served \
	"section 14.14, 'The program that answers'"
#define PLACE_sec_sweeping \
	"section 14.15, 'Sweeping over time'"
#define PLACE_sec_not_shown \
	"section 14.16, 'What such figures do not show'"
#define PLACE_ch_bugs \
	"chapter 15, 'Bugs that keep every shape'"
#define PLACE_ch_real_world \
	"chapter 16, 'Six misconceptions, and the real world'"
#define PLACE_sec_slice \
	"section 16.1, 'Each head gets a slice of the embedding'"
#define PLACE_sec_jobs \
	"section 16.4, 'Each head has a readable job'"
#define PLACE_sec_whole_story \
	"section 16.6, 'Attention weights tell the whole story'"
#define PLACE_ch_check \
	"chapter 17, 'Check yourself'"
#define PLACE_sec_questions \
	"section 17.1, 'Eight questions'"
#define PLACE_sec_explain \
	"section 17.2, 'Explain it back'"
#define PLACE_sec_cards \
	"section 17.3, 'Cards'"
#define PLACE_sec_quiz \
	"section 17.4, 'At the terminal'"
#define PLACE_ch_program \
	"appendix A, 'The program'"
#define PLACE_sec_errors \
	"section A.1, 'Errors'"
#define PLACE_sec_lab \
	"section A.2, 'The lab'"
#define PLACE_ch_library \
	"appendix B, 'In a program of your own'"
#define PLACE_ch_build \
	"appendix C, 'How this book is built and checked'"
#define PLACE_sec_fuzz \
	"section C.7, 'Fuzzing'"
#define PLACE_ch_when \
	"appendix D, 'What happens when'"
#define PLACE_sec_failures \
	"section D.4, 'When the system refuses'"
#define PLACE_ch_predict \
	"appendix E, 'Predict first'"
#define PLACE_sec_slips \
	"section E.2, 'A question, and what mistakes would give'"
#define PLACE_ch_answers \
	"appendix F, 'Answers'"
#define PLACE_sec_rubrics \
	"section F.2, 'To the questions'"
#define PLACE_ch_record \
	"appendix G, 'The record'"

#endif

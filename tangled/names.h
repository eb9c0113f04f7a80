/* names.h: made from the prototypes in the other headers.
 * The text says tensor_swap; the linker sees mh_tensor_swap in the double
 * build and mhf_tensor_swap in the float build, and one program may hold
 * both. */
#ifndef MH_NAMES_H
#define MH_NAMES_H

#ifdef MH_SINGLE
#define MH_NAME(name) mhf_ ## name
#else
#define MH_NAME(name) mh_ ## name
#endif

#define attention_head MH_NAME(attention_head)
#define attention_mask MH_NAME(attention_mask)
#define attention_mix MH_NAME(attention_mix)
#define attention_project MH_NAME(attention_project)
#define attention_scale MH_NAME(attention_scale)
#define attention_scores MH_NAME(attention_scores)
#define blas_product MH_NAME(blas_product)
#define error_set MH_NAME(error_set)
#define fixture_rows MH_NAME(fixture_rows)
#define fixture_run_heads MH_NAME(fixture_run_heads)
#define fixture_run_layer MH_NAME(fixture_run_layer)
#define fixture_set MH_NAME(fixture_set)
#define fixture_silence MH_NAME(fixture_silence)
#define fixture_weight MH_NAME(fixture_weight)
#define lab_expect MH_NAME(lab_expect)
#define lab_part MH_NAME(lab_part)
#define lab_run MH_NAME(lab_run)
#define layer_contribution MH_NAME(layer_contribution)
#define layer_create MH_NAME(layer_create)
#define layer_enter MH_NAME(layer_enter)
#define layer_forward_loop MH_NAME(layer_forward_loop)
#define layer_forward_packed MH_NAME(layer_forward_packed)
#define layer_frame MH_NAME(layer_frame)
#define layer_free MH_NAME(layer_free)
#define layer_randomize MH_NAME(layer_randomize)
#define measure MH_NAME(measure)
#define random_uniform MH_NAME(random_uniform)
#define record_abandon MH_NAME(record_abandon)
#define record_close MH_NAME(record_close)
#define record_line MH_NAME(record_line)
#define record_open MH_NAME(record_open)
#define record_rows MH_NAME(record_rows)
#define registry_enter MH_NAME(registry_enter)
#define registry_find MH_NAME(registry_find)
#define registry_first MH_NAME(registry_first)
#define registry_numbers MH_NAME(registry_numbers)
#define registry_zero_gradients MH_NAME(registry_zero_gradients)
#define softmax_rows MH_NAME(softmax_rows)
#define tensor_contiguous MH_NAME(tensor_contiguous)
#define tensor_count MH_NAME(tensor_count)
#define tensor_expect MH_NAME(tensor_expect)
#define tensor_finite MH_NAME(tensor_finite)
#define tensor_is_contiguous MH_NAME(tensor_is_contiguous)
#define tensor_merge MH_NAME(tensor_merge)
#define tensor_narrow MH_NAME(tensor_narrow)
#define tensor_product MH_NAME(tensor_product)
#define tensor_shape MH_NAME(tensor_shape)
#define tensor_slice MH_NAME(tensor_slice)
#define tensor_split MH_NAME(tensor_split)
#define tensor_swap MH_NAME(tensor_swap)
#define tensor_view MH_NAME(tensor_view)
#define workspace_free MH_NAME(workspace_free)
#define workspace_mark MH_NAME(workspace_mark)
#define workspace_release MH_NAME(workspace_release)
#define workspace_take MH_NAME(workspace_take)

#endif

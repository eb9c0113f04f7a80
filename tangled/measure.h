/* measure.h: made from chapters/90-record.nw; edit it there. */
#ifndef MH_MEASURE_H
#define MH_MEASURE_H

#include "record.h"

/* Measure everything that the book prints, but for the sweep, and
 * record it. Returns the status of the first measurement that could not
 * be taken. */
enum status measure(struct record *record, struct error *error);

#endif

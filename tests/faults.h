/* faults.h: orders to faults.c from within a program. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stddef.h>

enum fault_kind {
	FAULT_MEMORY, FAULT_PLACE, FAULT_READ, FAULT_WRITE, FAULT_WORKER,
	FAULT_KINDS
};
enum fault_how { FAULT_ONCE, FAULT_ON, FAULT_SHORT, FAULT_AGAIN };

/* From here on count calls, and fail number at of this kind; 0: none. */
void faults_arm(enum fault_kind kind, long at, enum fault_how how);

/* No more; which call has failed, or NULL. */
const char *faults_disarm(void);

/* Blocks of memory that are not yet freed. */
size_t faults_live(void);

#endif

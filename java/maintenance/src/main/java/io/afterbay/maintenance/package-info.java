/**
 * When background work may run: phases of instances, the pause after a burst, the limit of
 * concurrency, and the one scheduler of a process that applies them. No engine, no library, no I/O.
 */
@NullMarked
package io.afterbay.maintenance;

import org.jspecify.annotations.NullMarked;

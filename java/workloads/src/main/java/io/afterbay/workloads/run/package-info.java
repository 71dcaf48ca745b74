/** What the jobs share: clocks, schedules, exact output files, and figures of a run. */
@NullMarked
package io.afterbay.workloads.run;

import org.jspecify.annotations.NullMarked;

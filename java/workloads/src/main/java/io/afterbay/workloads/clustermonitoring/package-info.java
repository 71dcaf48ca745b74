/** What happens to the tasks of a cluster, with fields of Google's cluster trace of 2011. */
@NullMarked
package io.afterbay.workloads.clustermonitoring;

import org.jspecify.annotations.NullMarked;

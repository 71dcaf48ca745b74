/**
 * What experiments have in common: rounds of runs, each in a process of its own, that are recorded.
 */
@NullMarked
package io.afterbay.experiments;

import org.jspecify.annotations.NullMarked;

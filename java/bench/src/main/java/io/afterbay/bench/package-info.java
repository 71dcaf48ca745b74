/**
 * What a comparison of state backends says, and how it is told: runs, ratios, JSON, the HTML page,
 * and the page of results. No engine is known here; the commands run the jobs and hand over their
 * figures.
 */
@NullMarked
package io.afterbay.bench;

import org.jspecify.annotations.NullMarked;

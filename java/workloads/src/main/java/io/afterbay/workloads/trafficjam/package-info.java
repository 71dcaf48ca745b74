/**
 * The traffic-jam job: position reports of cars to the five most jammed streets of every ten
 * seconds.
 *
 * <pre>
 *   trace -> TraceSource -> LastReports -> StreetWindow -> Ranking -> RankingFile
 *            one reader     by car         by street,      one        one file, exact
 *            late reports   last report    10 s windows    instance   after restarts
 *            leave here     and payload
 * </pre>
 *
 * <p>Nothing in a result depends on the order in which reports are processed: speeds are added as
 * integers of 0.1 m/s, and figures are rounded once, when they are written.
 */
@NullMarked
package io.afterbay.workloads.trafficjam;

import org.jspecify.annotations.NullMarked;

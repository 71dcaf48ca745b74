/**
 * NEXMark, the auction house: a generated stream of bids, auctions and persons, and the eight
 * windowed queries with which FlowKV (EuroSys '23) measured state stores.
 *
 * <pre>
 *   Generator -> EventSource -> kind of event -> Plans: window by key -> AnswerRows
 *   event n is   one reader     that the query   the state that is       one instance:
 *   a function   stamps,        needs            measured                latency, exact file
 *   of n         watermarks
 *      |
 *      +-------> References: the same queries without an engine -> Verification: equal multisets
 * </pre>
 *
 * <p>Rows do not depend on the order in which events of different keys are processed.
 */
@NullMarked
package io.afterbay.workloads.nexmark;

import org.jspecify.annotations.NullMarked;

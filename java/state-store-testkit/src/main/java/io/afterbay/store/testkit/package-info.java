/**
 * Tests of state stores, for every store and adapter to inherit: the contract, a random model test,
 * fault injection, and defective stores that these must detect.
 */
@NullMarked
package io.afterbay.store.testkit;

import org.jspecify.annotations.NullMarked;

/**
 * What the tests of all modules have in common: how much they do, how they wait, what they need.
 */
@NullMarked
package io.afterbay.testing;

import org.jspecify.annotations.NullMarked;

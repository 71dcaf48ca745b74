/** Comparisons of state backends on the NEXMark queries and on scripts of SQL. */
@NullMarked
package io.afterbay.experiments.nexmark;

import org.jspecify.annotations.NullMarked;

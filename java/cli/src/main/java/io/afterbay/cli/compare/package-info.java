/** {@code afterbay compare}. */
@NullMarked
package io.afterbay.cli.compare;

import org.jspecify.annotations.NullMarked;

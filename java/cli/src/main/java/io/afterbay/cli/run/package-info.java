/** {@code afterbay run}. */
@NullMarked
package io.afterbay.cli.run;

import org.jspecify.annotations.NullMarked;

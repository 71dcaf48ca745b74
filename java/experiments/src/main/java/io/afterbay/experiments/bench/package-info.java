/** {@code afterbay bench}: all experiments together. */
@NullMarked
package io.afterbay.experiments.bench;

import org.jspecify.annotations.NullMarked;

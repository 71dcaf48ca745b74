/** How long a job stands still after its TaskManager was killed. */
@NullMarked
package io.afterbay.experiments.recovery;

import org.jspecify.annotations.NullMarked;

/** NEXMark queries at rates, and with other parameters of the store. */
@NullMarked
package io.afterbay.experiments.queries;

import org.jspecify.annotations.NullMarked;

/** {@code afterbay replay}: a job over the past, beside the one that runs. */
@NullMarked
package io.afterbay.cli.replay;

import org.jspecify.annotations.NullMarked;

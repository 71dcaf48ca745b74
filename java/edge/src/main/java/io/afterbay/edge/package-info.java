/** {@code afterbay edge}: the commands. */
@NullMarked
package io.afterbay.edge;

import org.jspecify.annotations.NullMarked;

/** Position reports of vehicles, as in the Linear Road benchmark (Arasu et al., VLDB '04). */
@NullMarked
package io.afterbay.workloads.linearroad;

import org.jspecify.annotations.NullMarked;

/** What the blob store does with the machine. */
@NullMarked
package io.afterbay.experiments.blob;

import org.jspecify.annotations.NullMarked;

/**
 * Publishes local files to a storage in the background, in order. {@link Publisher} is where to
 * begin. Knows no engine: JDK only.
 */
@NullMarked
package io.afterbay.spark.publish;

import org.jspecify.annotations.NullMarked;

/** Jobs that run in phases which are measured. */
@NullMarked
package io.afterbay.cli.measure;

import org.jspecify.annotations.NullMarked;

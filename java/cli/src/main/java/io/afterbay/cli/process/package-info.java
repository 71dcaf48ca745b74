/** The processes that a command starts, and the machine that they run on. */
@NullMarked
package io.afterbay.cli.process;

import org.jspecify.annotations.NullMarked;

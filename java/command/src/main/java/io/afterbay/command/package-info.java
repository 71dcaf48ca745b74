/** What the commands of all parts have in common: how they answer, how they end, their progress. */
@NullMarked
package io.afterbay.command;

import org.jspecify.annotations.NullMarked;

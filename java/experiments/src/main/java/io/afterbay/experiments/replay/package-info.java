/** What a live job feels of a replay beside it, and how the past is done otherwise. */
@NullMarked
package io.afterbay.experiments.replay;

import org.jspecify.annotations.NullMarked;

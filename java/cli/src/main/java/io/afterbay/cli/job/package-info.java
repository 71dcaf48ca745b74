/** What an engine runs: jobs of ours and of others, and what is said about them at their end. */
@NullMarked
package io.afterbay.cli.job;

import org.jspecify.annotations.NullMarked;

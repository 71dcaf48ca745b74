/** What slow tasks and long queues do on Storm, and what is done about it. */
@NullMarked
package io.afterbay.experiments.storm;

import org.jspecify.annotations.NullMarked;

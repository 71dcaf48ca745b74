/**
 * The commands.
 *
 * <pre>
 *   ./afterbay run traffic-jam ...        this process: checks options and files, then starts
 *     java -Xmx... Afterbay run ...       the worker: the same options, the engine inside
 *   ./afterbay compare nexmark ...        this process: the same, then for each run
 *     java -Xmx... CompareWorker            a worker, with a plan in its directory
 * </pre>
 *
 * <p>Two processes, because the heap of a JVM is fixed when it starts and {@code --memory} is the
 * memory of all of it. The first process also outlives the second: it removes the working directory
 * and explains how the worker died, even if the kernel killed it.
 */
@NullMarked
package io.afterbay.cli;

import org.jspecify.annotations.NullMarked;

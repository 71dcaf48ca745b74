/**
 * The experiment about shared-memory sockets: two programs of a host, on each way that they can
 * talk.
 */
@NullMarked
package io.afterbay.experiments.net;

import org.jspecify.annotations.NullMarked;

/** A Storm cluster of this machine, in namespaces of Linux. */
@NullMarked
package io.afterbay.storm.it.cluster;

import org.jspecify.annotations.NullMarked;

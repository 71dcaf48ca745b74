/** What three nodes of the blob store do with the machine, and with a node that is killed. */
@NullMarked
package io.afterbay.experiments.blobcluster;

import org.jspecify.annotations.NullMarked;

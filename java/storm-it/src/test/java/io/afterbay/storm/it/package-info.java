/**
 * Storm as users have it: ZooKeeper, Nimbus, Supervisor and two workers, each a process, of which
 * some are killed.
 */
@NullMarked
package io.afterbay.storm.it;

import org.jspecify.annotations.NullMarked;

/** What a running process says of its RocksDB instances. */
@NullMarked
package io.afterbay.cli.doctor.live;

import org.jspecify.annotations.NullMarked;

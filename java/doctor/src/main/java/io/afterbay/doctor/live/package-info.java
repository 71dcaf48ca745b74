/** What a running process says of its RocksDB instances. */
@NullMarked
package io.afterbay.doctor.live;

import org.jspecify.annotations.NullMarked;

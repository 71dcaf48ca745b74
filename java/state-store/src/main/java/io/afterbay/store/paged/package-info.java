/** The store: states of four shapes and trigger schedules on trees, chains and append logs. */
@NullMarked
package io.afterbay.store.paged;

import org.jspecify.annotations.NullMarked;

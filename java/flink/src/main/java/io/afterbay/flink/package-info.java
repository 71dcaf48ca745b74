/**
 * Afterbay as a state backend of Apache Flink: its factory, its options and the keyed backend.
 *
 * <p>Users meet {@link io.afterbay.flink.AfterbayStateBackendFactory} and {@link
 * io.afterbay.flink.AfterbayOptions}; everything else is internal.
 */
@NullMarked
package io.afterbay.flink;

import org.jspecify.annotations.NullMarked;

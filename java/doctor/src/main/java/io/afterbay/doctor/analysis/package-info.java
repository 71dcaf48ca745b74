/**
 * Whether the flushes and compactions of many RocksDB instances land together, and what to do about
 * it (ShadowSync, Middleware '22). Begins with {@link io.afterbay.doctor.analysis.Diagnosis}.
 */
@NullMarked
package io.afterbay.doctor.analysis;

import org.jspecify.annotations.NullMarked;

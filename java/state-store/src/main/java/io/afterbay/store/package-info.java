/**
 * The state store: keyed state of one stream operator instance, knowing how and when it is read.
 */
@NullMarked
package io.afterbay.store;

import org.jspecify.annotations.NullMarked;

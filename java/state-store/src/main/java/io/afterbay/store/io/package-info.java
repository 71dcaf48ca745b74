/** Local files as the store needs them, behind an interface that tests inject faults through. */
@NullMarked
package io.afterbay.store.io;

import org.jspecify.annotations.NullMarked;

/** App files: services, connections and locations, as a script of SQL. */
@NullMarked
package io.afterbay.edge.app;

import org.jspecify.annotations.NullMarked;

/**
 * Plans that Flink makes of SQL scripts, as JSON: how they come about, and what is changed in them.
 */
@NullMarked
package io.afterbay.edge.plan;

import org.jspecify.annotations.NullMarked;

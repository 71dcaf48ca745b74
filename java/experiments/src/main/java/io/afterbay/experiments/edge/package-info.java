/**
 * The experiment on edge-cloud applications: a job in halves over slow links, beside the whole job.
 */
@NullMarked
package io.afterbay.experiments.edge;

import org.jspecify.annotations.NullMarked;

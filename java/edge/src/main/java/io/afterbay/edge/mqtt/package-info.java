/** Lines as messages of MQTT 3.1.1: what a site's sensors do. */
@NullMarked
package io.afterbay.edge.mqtt;

import org.jspecify.annotations.NullMarked;

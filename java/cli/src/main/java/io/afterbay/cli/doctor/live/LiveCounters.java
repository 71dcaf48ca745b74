package io.afterbay.cli.doctor.live;

import java.io.IOException;
import java.net.MalformedURLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * The counters of the RocksDB instances that a coordinator looks after in a running process: the
 * bean {@code io.afterbay:type=RocksDBDesync}, whose attributes are those of {@code
 * io.afterbay.rocksdb.DesyncMetrics}. Two coordinators in a process, of two jobs that bring the jar
 * themselves, are two.
 *
 * @param values by attribute
 */
public record LiveCounters(String bean, Map<String, Object> values) {
    private static final String BEANS = "io.afterbay:type=RocksDBDesync,*";
    private static final String TIMEOUT_MILLIS = "10000";

    /**
     * Reads the counters once. JMX deserializes what the process answers: for processes that the
     * user trusts, as with JDK's own jconsole.
     *
     * @param address HOST:PORT of a JMX port, or a whole {@code service:jmx:} URL
     * @return empty if the process has none
     * @throws IOException if nobody answers
     */
    @SuppressWarnings("BanJNDI") // the address is the user's own
    public static List<LiveCounters> read(String address) throws IOException {
        System.setProperty("sun.rmi.transport.tcp.responseTimeout", TIMEOUT_MILLIS);
        try (JMXConnector connector = JMXConnectorFactory.connect(url(address))) {
            return read(connector.getMBeanServerConnection());
        } catch (JMException e) {
            throw new IOException("its answer could not be read: " + e, e);
        } catch (SecurityException e) {
            throw new IOException("it asks for a password, which is not supported", e);
        }
    }

    private static JMXServiceURL url(String address) throws MalformedURLException {
        return new JMXServiceURL(
                address.startsWith("service:")
                        ? address
                        : "service:jmx:rmi:///jndi/rmi://" + address + "/jmxrmi");
    }

    private static List<LiveCounters> read(MBeanServerConnection process)
            throws IOException, JMException {
        List<LiveCounters> found = new ArrayList<>();
        for (ObjectName name : process.queryNames(new ObjectName(BEANS), null)) {
            String[] attributes =
                    Arrays.stream(process.getMBeanInfo(name).getAttributes())
                            .map(MBeanAttributeInfo::getName)
                            .toArray(String[]::new);
            Map<String, Object> values = new TreeMap<>();
            for (Attribute attribute : process.getAttributes(name, attributes).asList()) {
                values.put(attribute.getName(), attribute.getValue());
            }
            found.add(new LiveCounters(name.toString(), values));
        }
        return found;
    }

    /** A number; 0 if this version of the bean does not have it. */
    long count(String attribute) {
        return values.get(attribute) instanceof Number number ? number.longValue() : 0;
    }

    /** Whether something is so; false if this version of the bean does not have it. */
    boolean is(String attribute) {
        return Boolean.TRUE.equals(values.get(attribute));
    }
}

package io.afterbay.rocksdb;

import java.lang.management.ManagementFactory;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The components of a record as attributes, read anew each time, under {@link #NAME}. A second one
 * in the same process, of another class loader, has {@code id} in its name, too.
 */
final class RecordMBean implements DynamicMBean {
    static final String NAME = "io.afterbay:type=RocksDBDesync";
    private static final Logger LOG = LoggerFactory.getLogger(RecordMBean.class);

    private final Class<?> type;
    private final Supplier<? extends Record> source;
    private final ObjectName name;

    private RecordMBean(Class<?> type, Supplier<? extends Record> source, ObjectName name) {
        this.type = type;
        this.source = source;
        this.name = name;
    }

    /** Null, with a line in the log, if that is not possible: nothing else depends on it. */
    static <R extends Record> @Nullable RecordMBean register(Class<R> type, Supplier<R> source) {
        try {
            return register(type, source, NAME);
        } catch (InstanceAlreadyExistsException e) {
            return registerAnother(type, source);
        } catch (JMException | SecurityException e) {
            LOG.warn("{} is not there for JMX", NAME, e);
            return null;
        }
    }

    private static <R extends Record> @Nullable RecordMBean registerAnother(
            Class<R> type, Supplier<R> source) {
        String another = NAME + ",id=" + Integer.toHexString(System.identityHashCode(source));
        try {
            return register(type, source, another);
        } catch (JMException | SecurityException e) {
            LOG.warn("{} is not there for JMX", another, e);
            return null;
        }
    }

    private static RecordMBean register(
            Class<?> type, Supplier<? extends Record> source, String name) throws JMException {
        RecordMBean bean = new RecordMBean(type, source, new ObjectName(name));
        ManagementFactory.getPlatformMBeanServer().registerMBean(bean, bean.name);
        return bean;
    }

    void unregister() {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        } catch (JMException | SecurityException e) {
            LOG.warn("{} stays there for JMX", name, e);
        }
    }

    @Override
    public Object getAttribute(String attribute)
            throws AttributeNotFoundException, ReflectionException {
        for (RecordComponent component : type.getRecordComponents()) {
            if (component.getName().equals(attribute)) {
                return value(component);
            }
        }
        throw new AttributeNotFoundException(name + " has no attribute " + attribute);
    }

    private Object value(RecordComponent component) throws ReflectionException {
        try {
            return component.getAccessor().invoke(source.get());
        } catch (ReflectiveOperationException e) {
            throw new ReflectionException(e);
        }
    }

    @Override
    public AttributeList getAttributes(String[] attributes) {
        AttributeList result = new AttributeList();
        for (String attribute : attributes) {
            try {
                result.add(new Attribute(attribute, getAttribute(attribute)));
            } catch (JMException e) {
                // By contract, what cannot be read is left out.
            }
        }
        return result;
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
        throw new AttributeNotFoundException(name + " can only be read");
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return new AttributeList();
    }

    @Override
    public Object invoke(String action, Object[] arguments, String[] signature)
            throws ReflectionException {
        throw new ReflectionException(
                new NoSuchMethodException(action), name + " has no operations");
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        MBeanAttributeInfo[] attributes =
                Arrays.stream(type.getRecordComponents())
                        .map(RecordMBean::info)
                        .toArray(MBeanAttributeInfo[]::new);
        return new MBeanInfo(type.getName(), type.getSimpleName(), attributes, null, null, null);
    }

    private static MBeanAttributeInfo info(RecordComponent component) {
        String name = component.getName();
        return new MBeanAttributeInfo(
                name, component.getType().getName(), name, true, false, false);
    }
}

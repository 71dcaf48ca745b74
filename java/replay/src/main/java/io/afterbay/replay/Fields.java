package io.afterbay.replay;

import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Field;
import org.apache.flink.util.InstantiationUtil;
import org.jspecify.annotations.Nullable;

/**
 * Private fields of classes of Flink and of its connectors, and copies of such objects. Connectors
 * are those of the job's jar, whichever version.
 */
final class Fields {
    private Fields() {}

    static @Nullable Object get(Object object, String name) throws ReplayRefusedException {
        try {
            return field(object, name).get(object);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw unknown(object, name, e);
        }
    }

    static boolean has(Object object, String name) {
        try {
            field(object, name);
            return true;
        } catch (NoSuchFieldException e) {
            return false;
        }
    }

    /** One that always has a value. */
    static Object required(Object object, String name) throws ReplayRefusedException {
        Object value = get(object, name);
        if (value == null) {
            throw unknown(object, name, null);
        }
        return value;
    }

    /** Also a final one. */
    static void set(Object object, String name, @Nullable Object value)
            throws ReplayRefusedException {
        try {
            field(object, name).set(object, value);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw unknown(object, name, e);
        }
    }

    /** Of the class or the nearest one above that has it. */
    private static Field field(Object object, String name) throws NoSuchFieldException {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        throw new NoSuchFieldException(name);
    }

    private static ReplayRefusedException unknown(
            Object object, String name, @Nullable Exception cause) {
        return new ReplayRefusedException(
                "class %s has no '%s' as it is known: replays know Flink 2.3 and its connector for Kafka 5.0"
                        .formatted(object.getClass().getName(), name),
                cause);
    }

    /** The job may be built of the original, too. */
    static <S extends Serializable> S copy(S object) throws ReplayRefusedException {
        try {
            return InstantiationUtil.clone(object, new BothLoaders(object.getClass()));
        } catch (IOException | ClassNotFoundException e) {
            throw new ReplayRefusedException(
                    "a " + object.getClass().getName() + " cannot be copied: " + e.getMessage(), e);
        }
    }

    /** Whether a class of that name, or one that extends it, has made the object. */
    static boolean isA(Object object, String className) {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(className)) {
                return true;
            }
        }
        return false;
    }

    /** A connector may lie beside Flink, and what it was given in the job's jar. */
    private static final class BothLoaders extends ClassLoader {
        private final @Nullable ClassLoader ofThread;

        BothLoaders(Class<?> type) {
            super(type.getClassLoader());
            ofThread = Thread.currentThread().getContextClassLoader();
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (ofThread == null) {
                throw new ClassNotFoundException(name);
            }
            return ofThread.loadClass(name);
        }
    }
}

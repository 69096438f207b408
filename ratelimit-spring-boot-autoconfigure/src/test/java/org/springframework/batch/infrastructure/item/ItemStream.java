package org.springframework.batch.infrastructure.item;

/** Stands for the interface of Spring Batch. */
public interface ItemStream {

    void close();
}

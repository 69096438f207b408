package com.acme;

import java.util.List;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.data.repository.Repository;

interface VetRepository extends Repository<Vet, Long> {

    Vet save(Vet vet);

    @Cacheable("vets")
    List<Vet> findAll();
}
